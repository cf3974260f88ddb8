"""How sure the scores and ranks of a board are: computed by a job behind all scoring, stored, and shown beside them."""

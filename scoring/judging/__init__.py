"""An LLM as a judge, behind any OpenAI-compatible server: rubrics, fenced texts, a budget, strictly read answers.

``spec`` is the ``[judge]`` section of a model profile, ``prompts/`` the rubrics, ``fencing`` what is sent, ``client``
one request, ``asking`` many of them within a budget, ``parsing`` the answers, ``judge`` all of it together;
``pairwise`` compares two systems; ``demo`` is a server that speaks the protocol and judges by features of the texts.
"""

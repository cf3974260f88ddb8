"""The engine of ``DATABASES``: Django's PostgreSQL, on connections that notice a server which does not answer."""

"""The WSGI application that the web server serves."""

import os

from django.core.wsgi import get_wsgi_application

from malpan.core.deep_calls import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")
application = with_room(get_wsgi_application())

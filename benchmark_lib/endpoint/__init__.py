"""One chat-completion call done well: client, retries, settings and prices."""

from .client import Endpoint
from .faults import EndpointError
from .keys import scrub
from .reply import Completion, RequestedCall, parse_reply
from .retries import start_delay_s
from .settings import RoleSettings, load_settings

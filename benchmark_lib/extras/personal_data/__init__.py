"""Personal data: found in chats, logs and tickets, and replaced with stand-ins."""

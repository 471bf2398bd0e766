"""Personal data: found in chats, logs and tickets, and replaced by stand-ins."""

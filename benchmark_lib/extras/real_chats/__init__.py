"""Real chats: conversations between people, cut before each decision of the agent."""

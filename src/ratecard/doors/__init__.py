"""Floor 4: doors for people and programs. A door imports anything below; nothing imports a door."""

"""Two rate cards compared: every price, condition and model that differs, from which day, and how much it matters."""

"""Made-up usage: sample requests of every model, how often and when each is sent, and the rows made of them."""

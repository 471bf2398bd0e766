"""Language models as judges of finished conversations, their calibration, and the labels of people beside them."""

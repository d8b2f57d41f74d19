"""The Frobenius norm of a Jacobian, exact or estimated."""

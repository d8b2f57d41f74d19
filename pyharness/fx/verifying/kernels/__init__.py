"""Whether the kernels that inductor made of a model compute what its nodes say, and which is the first to differ."""

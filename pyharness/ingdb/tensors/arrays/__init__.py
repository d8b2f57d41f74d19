"""Arrays of C++ libraries other than torch, as tensors: where the elements lie, their type, the shape, the strides."""

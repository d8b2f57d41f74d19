"""Variables of kernels that torch.compile has made: their buffers, the nodes that a line computes."""

"""Variables of objects of torch that are no tensors: autograd nodes, modules and optimizers."""

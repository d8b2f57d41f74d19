"""Forty small functions of two tensors, which inductor makes loops of every kind of: what the value oracle runs."""

import torch
from torch.nn import functional

OPS = {
    "add": lambda x, y: x + 2 * y,
    "mul_sum": lambda x, y: (x * y).sum(-1),
    "mean": lambda x, y: (x - y).float().mean(0),
    "relu": lambda x, y: torch.relu(x) + y,
    "where": lambda x, y: torch.where(x > y, x, y * 2),
    "clamp": lambda x, y: x.clamp(-1, 1) * y,
    "maximum": lambda x, y: torch.maximum(x, y) - torch.minimum(x, y),
    "amax": lambda x, y: (x + y).amax(-1, keepdim=True) + x,
    "argmax": lambda x, y: (x * y).argmax(-1),
    "prod": lambda x, y: (x + y).prod(0),
    "any": lambda x, y: (x > y).any(-1),
    "abs_sign": lambda x, y: x.abs() + y.sign(),
    "floor_div": lambda x, y: torch.div(x, y.abs() + 1, rounding_mode="floor"),
    "remainder": lambda x, y: torch.remainder(x, y.abs() + 1),
    "square": lambda x, y: (x - y) ** 2,
    "transpose": lambda x, y: (x + 1).t().contiguous() * 2 + y.t(),
    "transposed_add": lambda x, y: x[:20, :20].t() + y[:20, :20],
    "permute": lambda x, _: (x.view(4, -1, 35).permute(2, 0, 1) * 3).contiguous(),
    "cat": lambda x, y: torch.cat([x + 1, y * 2], -1) + 1,
    "stack": lambda x, y: torch.stack([x + 1, y - 1], 1).sum(-1),
    "slice": lambda x, y: x[:, 3:] * 2 + y[:, :-3],
    "pad": lambda x, y: functional.pad(x + y, (2, 3, 1, 0)) + 1,
    "flip": lambda x, y: (x + 1).flip(0) + y,
    "roll": lambda x, y: torch.roll(x * 2, 3, 1) + y,
    "gather": lambda x, y: torch.gather(x + 1, 1, (y.abs().long() % x.shape[1])) * 2,
    "index": lambda x, y: (x + 1)[(y[:, 0].abs().long() % x.shape[0])] * 2,
    "embedding": lambda x, y: functional.embedding(y.abs().long() % x.shape[0], x.float()) + 1,
    "index_add": lambda x, y: x.index_add(0, torch.arange(x.shape[0]) % 5, y) + 1,
    "scatter_add": lambda x, y: torch.zeros_like(x).scatter_add(1, y.abs().long() % x.shape[1], x + 1) * 2,
    "cumsum": lambda x, y: (x + y).cumsum(-1) * 2,
    "tril": lambda x, y: (x + 1).tril() + y,
    "arange": lambda x, y: x * torch.arange(x.shape[1]) + y,
    "one_hot": lambda _, y: functional.one_hot(y.abs().long() % 7, 7).sum(0) + 1,
    "max_pool": lambda x, y: functional.max_pool2d((x + y).float()[None, None], 2) + 1,
    "logical": lambda x, y: ((x > 0) & (y > 0)) | (x == y),
    "masked_fill": lambda x, y: (x * 2).masked_fill(y > 0, 3) + 1,
    "broadcast": lambda x, y: x[:, :1] * 2 + y[:1] - 1,
    "sum_all": lambda x, y: (x * 2 + y).sum(),
    "cast": lambda x, y: (x.float() * 0.5).to(x.dtype) + y,
    "expand_sum": lambda x, y: (x[:, None, :] + y[None, :, :]).sum(1),
}
"""For float32, bfloat16 and int64."""

FLOATS = {
    "gelu": lambda x, y: functional.gelu(x) + y,
    "gelu_tanh": lambda x, y: functional.gelu(x, approximate="tanh") * y,
    "silu": lambda x, y: functional.silu(x) * y,
    "softmax": lambda x, y: functional.softmax(x + y, -1) * 2,
    "log_softmax": lambda x, y: functional.log_softmax(x * y, 0) + 1,
    "layer_norm": lambda x, y: functional.layer_norm(x + y, x.shape[-1:]) * 2,
    "group_norm": lambda x, y: functional.group_norm((x + y).view(2, 4, -1), 2) + 1,
    "var": lambda x, y: (x + y).var(-1),
    "std_all": lambda x, y: (x * y).std() + x,
    "sigmoid_tanh": lambda x, y: torch.sigmoid(x) * torch.tanh(y),
    "exp_log": lambda x, y: torch.exp(-x.abs()) + torch.log(y.abs() + 1),
    "rsqrt": lambda x, y: torch.rsqrt(x.abs() + 1) * torch.sqrt(y.abs() + 1),
    "sin_cos": lambda x, y: torch.sin(x) + torch.cos(y),
    "pow": lambda x, y: (x.abs() + 0.1).pow(1.5) + y,
    "nan_to_num": lambda x, y: torch.nan_to_num(x / (y * 0)) + 1,
    "mse": functional.mse_loss,
    "smooth_l1": functional.smooth_l1_loss,
    "norm": lambda x, y: x / (y.norm(dim=-1, keepdim=True) + 1e-3),
    "avg_pool": lambda x, y: functional.avg_pool2d((x + y)[None, None], 2) + 1,
    "interpolate": lambda x, y: functional.interpolate((x + y)[None, None], scale_factor=2, mode="bilinear") + 1,
    "logsumexp": lambda x, y: torch.logsumexp(x + y, -1),
    "batch_norm": lambda x, y: functional.batch_norm((x + y).view(8, 5, -1), None, None, training=True) * 2,
}
"""For float32 and bfloat16, with their gradients."""
ROWS, COLUMNS = 40, 35
"""No multiples of a vector's length, so that there are tails."""


def tensors(dtype):
    """Two tensors of ``ROWS`` by ``COLUMNS``; no two elements are alike but among integers."""
    torch.manual_seed(3)
    if dtype == torch.int64:
        return tuple(torch.randint(-1000, 1000, (ROWS, COLUMNS)) for _ in range(2))
    return tuple(torch.randn(ROWS, COLUMNS, dtype=dtype) for _ in range(2))

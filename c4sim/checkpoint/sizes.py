"""Sizes to times: how long it takes to move a checkpoint."""


def transfer_seconds(
    bytes_per_gpu: float,
    nodes: int,
    gpus_per_node: int,
    bandwidth: float | None = None,
    node_bandwidth: float | None = None,
) -> float:
    """Seconds to write or read a checkpoint of `bytes_per_gpu` on every GPU of the job.

    bandwidth: of the storage, B/s, shared by all nodes of the job; node_bandwidth: of one node's own path, B/s. The
    narrower of the two decides: `max(nodes gpus b / bandwidth, gpus b / node_bandwidth)`.

    Raises ValueError if neither is given or one is not above 0.
    """
    per_node = bytes_per_gpu * gpus_per_node
    times = []
    for name, amount, rate in (
        ("bandwidth", per_node * nodes, bandwidth),
        ("node_bandwidth", per_node, node_bandwidth),
    ):
        if rate is not None:
            if not rate > 0.0:
                raise ValueError(f"{name}: must be above 0 (got {rate!r})")
            times.append(amount / rate)
    if not times:
        raise ValueError("bytes_per_gpu: needs bandwidth or node_bandwidth")
    return max(times)

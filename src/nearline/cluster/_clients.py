"""Clusters that the command line uses: one that runs, or one of its own on this machine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask.delayed import delayed

from nearline._arrays.blocks import Block, Blocks
from nearline.cluster._blocks import DaskBlocks
from nearline.cluster._crews import ClusterCrew, ClusterError


@contextmanager
def connected(address: str | None, workers: int | None, memory: float) -> Iterator[tuple[Any, str]]:
    """A client of a scheduler at an address, or of so many processes here that share ``memory``; and what to say of it."""
    from distributed import Client, LocalCluster

    if address is not None:
        try:
            client = Client(address, timeout=5)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"There is no Dask scheduler at {address} ({error}): start one (dask scheduler), or give the address that it "
                "prints, such as tcp://host:8786."
            ) from error
        with client:
            yield client, f"cluster at {address}: {_workers(client)}; dashboard: {client.dashboard_link}"
        return
    limit = int(memory / (workers or 1))
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=limit,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client, f"{_workers(client)} on this machine; dashboard: {client.dashboard_link}"


def _workers(client: Any) -> str:
    n = len(client.scheduler_info(n_workers=-1)["workers"])
    if not n:
        raise ClusterError("The cluster has no workers: start some (dask worker ADDRESS), then try again.")
    return f"{n} worker{'' if n == 1 else 's'}"


def placed(client: Any, pieces: Sequence[Callable[[], Block]]) -> Blocks:
    """Pieces of a file as blocks that the workers read, who must see the file under the same name, and keep."""
    crew = ClusterCrew(client)
    return DaskBlocks.of(crew, crew.hold([delayed(piece, pure=False)() for piece in pieces]))

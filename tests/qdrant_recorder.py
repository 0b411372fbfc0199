"""A Qdrant server that remembers what it is asked, built from the client's own gRPC stubs."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from qdrant_client import grpc as qdrant


@dataclass
class Call:
    """One request, with the metadata it came with and the seconds it may take."""

    method: str
    request: object
    metadata: dict
    seconds: float


@dataclass
class RecordedQdrant:
    """Collections that hold no points, and every call that was made.

    `refuses` names methods and the status they end with, `hangs` those that never end.
    """

    calls: list = field(default_factory=list)
    aliases: dict = field(default_factory=dict)
    collections: dict = field(default_factory=dict)
    schemas: dict = field(default_factory=dict)
    refuses: dict = field(default_factory=dict)
    hangs: set = field(default_factory=set)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    def asked(self, method):
        return [call.request for call in self.calls if call.method == method]

    async def take(self, method, request, context):
        metadata = dict(context.invocation_metadata())
        self.calls.append(Call(method, request, metadata, context.time_remaining()))
        if method in self.refuses:
            await context.abort(self.refuses[method], "refused")
        if method in self.hangs:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        return getattr(self, method, self._done)(request)

    def CollectionExists(self, request):
        exists = request.collection_name in self.collections
        return qdrant.CollectionExistsResponse(result=qdrant.CollectionExists(exists=exists))

    def ListAliases(self, _):
        return qdrant.ListAliasesResponse(
            aliases=[
                qdrant.AliasDescription(alias_name=alias, collection_name=name)
                for alias, name in self.aliases.items()
            ]
        )

    def List(self, _):
        return qdrant.ListCollectionsResponse(
            collections=[qdrant.CollectionDescription(name=name) for name in self.collections]
        )

    def DeleteCollection(self, request):
        del self.collections[request.collection_name]
        return qdrant.CollectionOperationResponse(result=True)

    def UpdateAliases(self, request):
        for action in request.actions:
            if action.HasField("create_alias"):
                self.aliases[action.create_alias.alias_name] = action.create_alias.collection_name
            else:
                del self.aliases[action.delete_alias.alias_name]
        return qdrant.CollectionOperationResponse(result=True)

    def Create(self, request):
        self.collections[request.collection_name] = request
        self.schemas[request.collection_name] = {}
        return qdrant.CollectionOperationResponse(result=True)

    def CreateFieldIndex(self, request):
        kinds = {
            qdrant.FieldType.FieldTypeKeyword: qdrant.PayloadSchemaType.Keyword,
            qdrant.FieldType.FieldTypeInteger: qdrant.PayloadSchemaType.Integer,
        }
        self.schemas[request.collection_name][request.field_name] = qdrant.PayloadSchemaInfo(
            data_type=kinds[request.field_type], params=request.field_index_params
        )
        return self._done(request)

    def GetCollection(self, request):
        made = self.collections[request.collection_name]
        params = qdrant.CollectionParams(
            shard_number=1,
            vectors_config=made.vectors_config,
            sparse_vectors_config=made.sparse_vectors_config,
        )
        return qdrant.GetCollectionInfoResponse(
            result=qdrant.CollectionInfo(
                status=qdrant.CollectionStatus.Green,
                optimizer_status=qdrant.OptimizerStatus(ok=True),
                segments_count=1,
                config=qdrant.CollectionConfig(
                    params=params,
                    hnsw_config=qdrant.HnswConfigDiff(
                        m=16, ef_construct=100, full_scan_threshold=10_000
                    ),
                    optimizer_config=qdrant.OptimizersConfigDiff(
                        deleted_threshold=0.2,
                        vacuum_min_vector_number=1000,
                        default_segment_number=0,
                        flush_interval_sec=5,
                    ),
                    wal_config=qdrant.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
                ),
                payload_schema=self.schemas[request.collection_name],
                points_count=0,
            )
        )

    def QueryBatch(self, request):
        results = [qdrant.BatchResult() for _ in request.query_points]
        return qdrant.QueryBatchResponse(result=results)

    def Scroll(self, _):
        return qdrant.ScrollResponse()

    def Facet(self, _):
        return qdrant.FacetResponse()

    def GetPoints(self, _):
        return qdrant.GetResponse()

    def _done(self, _):
        result = qdrant.UpdateResult(operation_id=1, status=qdrant.UpdateStatus.Completed)
        return qdrant.PointsOperationResponse(result=result)


def _servicer(base, recorded, renamed):
    def method(name):
        async def answer(self, request, context):
            return await recorded.take(renamed.get(name, name), request, context)

        return answer

    names = [name for name in vars(base) if name[0].isupper()]
    return type(base.__name__, (base,), {name: method(name) for name in names})()


@asynccontextmanager
async def recorded_qdrant(recorded=None, port=0):
    """The server, and the port at which it answers; one that was there comes back as it was."""
    recorded = recorded or RecordedQdrant()
    server = grpc.aio.server()
    points = _servicer(qdrant.PointsServicer, recorded, {"Get": "GetPoints"})
    renamed = {"Get": "GetCollection", "Delete": "DeleteCollection"}
    collections = _servicer(qdrant.CollectionsServicer, recorded, renamed)
    qdrant.add_PointsServicer_to_server(points, server)
    qdrant.add_CollectionsServicer_to_server(collections, server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield recorded, port
    finally:
        await server.stop(None)

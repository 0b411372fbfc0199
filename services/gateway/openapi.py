"""The OpenAPI document, written from the protos' descriptors and their rules."""

from collections.abc import Iterable
from importlib import metadata

from google.protobuf.descriptor import Descriptor
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.chassis import access
from services.gateway import comments
from services.gateway.schemas import WELL_KNOWN, Schema, Schemas
from services.gateway.twins import Twin

_PROBLEM, _TOKEN, _EVENTS = "Problem", "token", "text/event-stream"
_METADATA: Descriptor = retrieval.IngestMetadata.DESCRIPTOR  # type: ignore[assignment]  # upb's own
_ASK_EVENTS: Descriptor = grounding.AskStreamResponse.DESCRIPTOR  # type: ignore[assignment]  # as above


def document(twins: Iterable[Twin]) -> Schema:
    """OpenAPI 3.2, which knows streams of events: every twin, and what is not one."""
    schemas = Schemas(comments.read())
    paths: dict[str, Schema] = {
        "/grounded_query": {"post": _grounded()},
        "/grounded_query/stream": {"post": _grounded(schemas)},
        "/v1/documents/{document_id}/pages/{page_number}.png": {"get": _page_image()},
        "/healthz": {"get": _probe("Whether the process answers.", ready=False)},
        "/readyz": {"get": _probe("Whether every service it needs serves.", ready=True)},
    }
    for twin in twins:
        paths.setdefault(twin.path, {})[twin.verb.lower()] = _operation(twin, schemas)
    return {
        "openapi": "3.2.0",
        "info": {
            "title": "Verity",
            "version": metadata.version("verity"),
            "description": (
                "Each operation under /v1 is the twin of one RPC: protobuf's JSON mapping with the "
                "names of the protos. 64-bit integers are strings, bytes are base64, durations are "
                'like "1.5s", enums are names. Offsets count code points.'
            ),
        },
        "paths": paths,
        # With a token, or without where the system does not ask who calls.
        "security": [{_TOKEN: []}, {}],
        "components": {
            "schemas": {**schemas.all, _PROBLEM: _problem(), "GroundedAnswer": _flat()},
            "securitySchemes": {
                _TOKEN: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def _operation(twin: Twin, schemas: Schemas) -> Schema:
    operation: Schema = {
        "operationId": twin.rpc.name,
        "tags": [twin.rpc.containing_service.name],
        "summary": f"{twin.name} as JSON.",
        **schemas.said(twin.rpc.full_name),
        "x-grpc-method": twin.name,
        "x-verity-scopes": sorted(access.scopes(twin.name)),
        "parameters": _parameters(twin, schemas),
        "responses": {"200": _reply(twin, schemas), "default": _failure()},
    }
    if twin.rpc.client_streaming:
        operation["parameters"] += _query(_METADATA, (), schemas)
        operation["requestBody"] = _file_body(schemas)
    elif twin.verb == "POST":
        content = {"application/json": {"schema": schemas.request(twin.input)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(twin: Twin, schemas: Schemas) -> list[Schema]:
    found: list[Schema] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": schemas.parameter(twin.input.fields_by_name[name]),
            **schemas.said(twin.input.fields_by_name[name].full_name),
        }
        for name in twin.path_fields
    ]
    if twin.verb != "POST":
        found += _query(twin.input, twin.path_fields, schemas)
    return found


def _query(
    message: Descriptor, but: Iterable[str], schemas: Schemas, prefix: str = ""
) -> list[Schema]:
    found: list[Schema] = []
    for field in message.fields:
        if field.name in but:
            continue
        if field.message_type is None:
            named: Schema = {"name": prefix + field.name, "in": "query"}
            found.append(
                {**named, "schema": schemas.parameter(field), **schemas.said(field.full_name)}
            )
        elif not field.is_repeated and field.message_type.full_name not in WELL_KNOWN:
            found += _query(field.message_type, (), schemas, f"{prefix}{field.name}.")
    return found


def _reply(twin: Twin, schemas: Schemas) -> Schema:
    if not twin.rpc.server_streaming:
        content: Schema = {"application/json": {"schema": schemas.reply(twin.output)}}
        return {"description": "The reply.", "content": content}
    (oneof,) = twin.output.oneofs
    content = {_EVENTS: {"itemSchema": _events({f.name: schemas.sent(f) for f in oneof.fields})}}
    if twin.rpc.client_streaming:
        content["application/json"] = {"schema": schemas.sent(twin.output.fields_by_name["result"])}
    return {"description": "Events as they happen; error is the last.", "content": content}


def _events(members: Schema) -> Schema:
    """An event is named by the member of the stream's oneof that its data is, or error."""
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {
                    "event": {"const": name},
                    "data": {
                        "type": "string",
                        "contentMediaType": "application/json",
                        "contentSchema": schema,
                    },
                },
                "required": ["event", "data"],
            }
            for name, schema in {**members, "error": _ref(_PROBLEM)}.items()
        ]
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _file_body(schemas: Schemas) -> Schema:
    metadata_fields = _METADATA.fields
    form: Schema = {f.name: schemas.parameter(f) for f in metadata_fields}
    form["file"] = {"type": "string", "contentMediaType": "application/octet-stream"}
    return {
        "required": True,
        "description": "The file itself, with the metadata in the query; or a form with the "
        "metadata as fields and the file last.",
        "content": {
            "application/octet-stream": {"schema": {}},
            "multipart/form-data": {
                "schema": {"type": "object", "properties": form, "required": ["file"]}
            },
        },
    }


def _grounded(schemas: Schemas | None = None) -> Schema:
    """The flat question; with `schemas`, its stream."""
    content: Schema = {"application/json": {"schema": _ref("GroundedAnswer")}}
    if schemas is not None:
        members = {f.name: schemas.sent(f) for f in _ASK_EVENTS.fields}
        members["grounded_answer"] = _ref("GroundedAnswer")
        content = {_EVENTS: {"itemSchema": _events(members)}}
    question = {"type": "string", "minLength": 1, "maxLength": 4000, "pattern": r"\S"}
    conversation = {
        "type": ["string", "null"],
        "maxLength": 100,
        "pattern": "^([A-Za-z0-9_.-]+)?$",
    }
    body = {
        "type": "object",
        "properties": {"query": question, "conversation_id": conversation},
        "required": ["query"],
        "additionalProperties": False,
    }
    return {
        "operationId": "grounded_query" + ("_stream" if schemas else ""),
        "summary": "One question in, one proven answer out, flat.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "The answer.", "content": content},
            "default": _failure(),
        },
    }


def _page_image() -> Schema:
    def number(name: str, where: str, least: int, most: int) -> Schema:
        schema = {"type": "integer", "minimum": least, "maximum": most}
        return {"name": name, "in": where, "required": where == "path", "schema": schema}

    document_id = {"type": "string", "minLength": 1, "maxLength": 100}
    spans = {
        "type": "array",
        "maxItems": 100,
        "items": {"type": "string", "pattern": r"^\d{1,9}-\d{1,9}$"},
    }
    return {
        "operationId": "page_image",
        "summary": "One page as an image, with boxes around spans of the document's text.",
        "parameters": [
            {"name": "document_id", "in": "path", "required": True, "schema": document_id},
            number("page_number", "path", 1, 2**32 - 1),
            {"name": "highlight", "in": "query", "schema": spans},
            number("dpi", "query", 0, 300),
        ],
        "responses": {
            "200": {"description": "The page.", "content": {"image/png": {"schema": {}}}},
            "default": _failure(),
        },
    }


def _probe(summary: str, *, ready: bool) -> Schema:
    ok = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    responses: Schema = {
        "200": {"description": "It does.", "content": {"application/json": {"schema": ok}}},
        "default": _failure(),
    }
    return {
        "operationId": "readyz" if ready else "healthz",
        "summary": summary,
        "responses": responses,
    }


def _failure() -> Schema:
    content = {"application/problem+json": {"schema": _ref(_PROBLEM)}}
    return {"description": "A problem, by RFC 9457.", "content": content}


def _problem() -> Schema:
    violation = {
        "type": "object",
        "properties": {"field": {"type": "string"}, "description": {"type": "string"}},
        "required": ["field", "description"],
    }
    properties: Schema = {
        name: {"type": "string"}
        for name in ("type", "title", "detail", "code", "reason", "error_id", "trace_id")
    }
    properties |= {
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "retry_after_seconds": {"type": "number", "minimum": 0},
        "violations": {"type": "array", "items": violation},
    }
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _flat() -> Schema:
    """The flat answer; what of it is a message has that message's schema."""
    share = {"type": "number", "minimum": 0, "maximum": 1}
    count = {"type": "integer", "minimum": 0}
    words = {"type": "string"}

    def many(properties: Schema) -> Schema:
        item = {"type": "object", "properties": properties, "required": list(properties)}
        return {"type": "array", "items": {**item, "additionalProperties": False}}

    def messages(name: str) -> Schema:
        return {"type": "array", "items": _ref(name)}

    properties: Schema = {
        "answer": words,
        "grounding_confidence": share,
        "citation_accuracy": share,
        "source_authority": share,
        "claims_verified": count,
        "total_claims": count,
        "verification_details": many(
            {"claim": words, "verdict": words, "reasons": messages("Reason")}
        ),
        "sources": many({"id": words, "name": words, "page": count, "authority": words}),
        "historical_quality": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "statements": messages("VerifiedStatement"),
        "compliance": words,
        "status": words,
        "stage_timings": messages("StageTiming"),
        "trace_id": words,
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

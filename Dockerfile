# The image of one service: `docker build --build-arg SERVICE=retrieval .`; `make images` builds all.
# SERVICE=cli is the `verity` command, for whoever looks after a cluster: it has the code of every service.
# Nothing here needs BuildKit. In production, name the base by its digest: BASE_IMAGE=python:…@sha256:…
ARG BASE_IMAGE=python:3.12-slim-bookworm

# What is the same for every service: the stubs and our own wheel.
FROM ${BASE_IMAGE} AS wheel
WORKDIR /src
RUN python3 -m venv /tools
COPY pyproject.toml requirements.lock ./
COPY images/locked.py images/
RUN python3 images/locked.py pyproject.toml requirements.lock only:grpcio-tools only:hatchling >tools.txt \
 && /tools/bin/python -m pip install --no-cache-dir --disable-pip-version-check --quiet \
      --no-deps --require-hashes --only-binary=:all: -r tools.txt
COPY LICENSE README.md ./
COPY protos protos
COPY services services
COPY cli cli
RUN mkdir -p gen && /tools/bin/python -m grpc_tools.protoc -Iprotos --python_out=gen --grpc_python_out=gen \
      --include_source_info --descriptor_set_out=descriptors.binpb protos/verity/v1/*.proto \
 && mv descriptors.binpb gen/verity/v1/ \
 && /tools/bin/python -m hatchling build -t wheel -d /wheel

# One service's packages, from the lock, by hash, as wheels: there is no compiler to build with.
FROM ${BASE_IMAGE} AS installed
ARG SERVICE
# More extras, with spaces between: "s3", "sentence-transformers" (brings torch).
ARG EXTRAS=""
WORKDIR /src
RUN python3 -m venv /tools && python3 -m venv --without-pip /opt/verity
# For strip: some wheels come with their debug symbols.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils >/dev/null
COPY pyproject.toml requirements.lock ./
COPY images/locked.py images/
# The command reads every service's settings, for which most import what they need; generation's library
# is imported only where a model is asked to draft, which the command never does.
RUN if [ "${SERVICE}" = cli ]; then all="gateway orchestrator retrieval verification"; fi \
 && python3 images/locked.py pyproject.toml requirements.lock ${SERVICE} ${all:-} ${EXTRAS} >pins.txt \
 && /tools/bin/python -m pip --python /opt/verity/bin/python install --no-cache-dir --quiet \
      --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: -r pins.txt
COPY --from=wheel /wheel /wheel
COPY images images
# The page, as `make page` leaves it: no image with Node is needed here.
COPY web/dist page
RUN /tools/bin/python -m pip --python /opt/verity/bin/python install --no-cache-dir --quiet \
      --disable-pip-version-check --no-deps /wheel/*.whl \
 && mkdir -p /opt/verity/share \
 && python3 images/trim.py /opt/verity/lib/python3*/site-packages ${SERVICE} \
 && /opt/verity/bin/python images/sbom.py ${SERVICE} >/opt/verity/share/sbom.cdx.json \
 && find /opt/verity/lib -name 'loop.cpython*.so' -o -name qdrant_edge.abi3.so -o -name tokenizers.abi3.so \
      -o -name _rust.abi3.so -o -name '_yaml.cpython*.so' -o -path '*/zstandard/*.so' -o -name '_xxhash.cpython*.so' \
      -o -name '_regex.cpython*.so' -o -name '_imaging.cpython*.so' \
  | xargs --no-run-if-empty strip --strip-unneeded \
 && /opt/verity/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/verity/lib \
 && if [ "${SERVICE}" = gateway ]; then cp -r page /opt/verity/share/page; fi \
 && if [ "${SERVICE}" = cli ]; then module=cli; else module=services.${SERVICE}; fi \
 && printf '#!/bin/sh\nexec /opt/verity/bin/python -m %s "$@"\n' ${module} >/opt/verity/bin/service \
 && chmod a+rx /opt/verity/bin/service && chmod -R a+rX,go-w /opt/verity

FROM ${BASE_IMAGE}
ARG BASE_IMAGE
ARG SERVICE
# Text in pictures is recognized by tesseract, in the retrieval image, and in that of the command, whose
# doctor looks for it; OCR="" leaves it out.
ARG OCR="eng"
RUN if { [ "${SERVICE}" = retrieval ] || [ "${SERVICE}" = cli ]; } && [ -n "${OCR}" ]; then \
      printf 'path-exclude=/usr/share/%s/*\n' doc man locale fonts >/etc/dpkg/dpkg.cfg.d/lean \
   && apt-get update -qq \
   && apt-get install -y -qq --no-install-recommends tesseract-ocr $(printf 'tesseract-ocr-%s ' ${OCR}) >/dev/null \
   && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
      /usr/share/tesseract-ocr/*/tessdata/osd.traineddata; fi \
 && rm -rf /usr/lib/python3*/ensurepip /usr/local/lib/python3*/ensurepip /usr/share/python-wheels \
      /usr/local/lib/python3*/site-packages/pip* /usr/local/lib/python3*/site-packages/setuptools* \
      /usr/local/bin/pip* /usr/bin/pip* \
 && mkdir -p /var/lib/verity && chown 12345:12345 /var/lib/verity
COPY --from=installed /opt/verity /opt/verity
ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="verity-${SERVICE}" \
      org.opencontainers.image.description="Verity: answers in which every statement is verified." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE_IMAGE}" \
      verity.sbom="/opt/verity/share/sbom.cdx.json" \
      verity.sbom.format="CycloneDX 1.6 JSON"
ENV PATH=/opt/verity/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    TRANSFORMERS_OFFLINE=1 \
    TOKENIZERS_PARALLELISM=false \
    HOME=/tmp \
    VERITY_BIND=0.0.0.0:50051 \
    VERITY_HEALTH_BIND=0.0.0.0:50050 \
    VERITY_METRICS_BIND=0.0.0.0:9464 \
    VERITY_GATEWAY_BIND=0.0.0.0:8000 \
    VERITY_PAGE_DIR=/opt/verity/share/page \
    VERITY_DATA_DIR=/var/lib/verity \
    VERITY_PROFILE=prod
WORKDIR /tmp
USER 12345:12345
ENTRYPOINT ["/opt/verity/bin/service"]

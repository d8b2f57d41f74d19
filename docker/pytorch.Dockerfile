# The image of docker/Dockerfile with PyTorch itself built from source, with debug information, and pyharness built for it.
# docs/pytorch-source.md says which arguments to choose, and shows a session.
#
#   docker build -f docker/pytorch.Dockerfile -t pyharness-pytorch . \
#     --build-arg USE_CUSTOM_DEBINFO="aten/src/ATen/native/Linear.cpp;torch/csrc/autograd/engine.cpp"

ARG IMAGE=pyharness:13
FROM ${IMAGE}

# A BLAS: without one linear algebra is slow, or missing.
USER 0
# hadolint ignore=DL3008  # a distribution's packages come with the distribution's versions
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ccache libopenblas-dev \
  && rm -rf /var/lib/apt/lists/*
ARG USER=dev
RUN install --directory --owner="$USER" --group="$USER" /opt/pytorch
USER ${USER}

ARG TAG=v2.13.0
ARG REPOSITORY=https://github.com/pytorch/pytorch
RUN git clone --quiet --depth 1 --branch "$TAG" --recurse-submodules --shallow-submodules "$REPOSITORY" /opt/pytorch
WORKDIR /opt/pytorch

# How much debug information: of chosen files (their names from the root, with `;` between), of all of them, or all of them
# without optimization. An empty value chooses nothing.
ARG USE_CUSTOM_DEBINFO=
ARG REL_WITH_DEB_INFO=
ARG DEBUG=
# Parallel compilers; an empty value has as many as there are cores. Each needs memory, with DEBUG 2 GB and more.
ARG MAX_JOBS=
# What is left out shortens the build. USE_CUDA=1 needs an image with the CUDA toolkit.
ARG USE_CUDA=0
ARG USE_DISTRIBUTED=0
ARG USE_MKLDNN=0
ARG USE_FBGEMM=0
ARG USE_NNPACK=0
ARG USE_XNNPACK=0
ARG USE_KINETO=0
ARG BUILD_TEST=0

# The version is said because that of a checkout, 2.13.0a0+git..., is older than 2.13 to pip. PyTorch's build reads its options
# from the environment, and takes one that is there but empty for a choice: those are taken away.
ENV CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/opt/pytorch/.ccache
# hadolint ignore=DL3013  # PyTorch says which versions build it
RUN { [ -n "$USE_CUSTOM_DEBINFO" ] || unset USE_CUSTOM_DEBINFO; } && { [ -n "$DEBUG" ] || unset DEBUG; } \
  && { [ -n "$REL_WITH_DEB_INFO" ] || unset REL_WITH_DEB_INFO; } && { [ -n "$MAX_JOBS" ] || unset MAX_JOBS; } \
  && pip uninstall --quiet --yes torch && pip install --no-cache-dir --group dev \
  && PYTORCH_BUILD_VERSION="${TAG#v}" PYTORCH_BUILD_NUMBER=1 \
    python -m pip install --no-cache-dir --no-build-isolation --verbose --editable .

# Our engine, compiled against this torch's headers.
RUN mkdir /tmp/pyharness
COPY --chown=${USER} . /tmp/pyharness
RUN pip install --no-cache-dir --no-deps --no-build-isolation --force-reinstall /tmp/pyharness && pyharness engine build \
  && python -c "from pyharness.native.load import load; load('_engine')"
WORKDIR /workspace

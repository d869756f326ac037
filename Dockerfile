# A container image of a release: docker build -t stig -f Dockerfile dist
# The context is a directory with the Debian packages of one release.
FROM debian:bookworm-slim
ARG TARGETARCH=amd64
RUN apt-get update \
	&& apt-get install -y --no-install-recommends git \
	&& rm -rf /var/lib/apt/lists/*
COPY stig_*_${TARGETARCH}.deb /tmp/
RUN dpkg -i /tmp/stig_*.deb && rm /tmp/stig_*.deb
RUN useradd --create-home stig
USER stig
WORKDIR /work
# Git refuses the directory of another owner, which a mounted one is.
ENV GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=/work
ENTRYPOINT ["stig"]

# SPDX-License-Identifier: Apache-2.0
# The scheduling center, and the executor, as an image: docs/operations.md, "Container". A test reads this file, so it
# keeps to FROM, WORKDIR, COPY, RUN, ENV, USER, EXPOSE, VOLUME, STOPSIGNAL, HEALTHCHECK, ENTRYPOINT and CMD.
FROM debian:12 AS build
WORKDIR /src
COPY . .
RUN scripts/install-deps.sh build
# what `make console` has built outside is taken; else it is built here, which takes Node.js and a minute
RUN test -e web/dist/packed/sources || make console
RUN cmake --preset release && cmake --build build/release --target peal && strip -o /usr/bin/peal build/release/peal
RUN scripts/sbom.py /usr/bin/peal >/sbom.cdx.json

FROM debian:12-slim
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ca-certificates tzdata libargon2-1 libcurl4 libjansson4 libmariadb3 libpq5 libsqlite3-0 libssl3 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/bin/peal /usr/bin/peal
COPY packaging/container/peal-container /usr/bin/peal-container
COPY LICENSE /usr/share/doc/peal/LICENSE
COPY --from=build /src/web/dist/third-party.txt /usr/share/doc/peal/third-party.txt
COPY --from=build /sbom.cdx.json /usr/share/doc/peal/sbom.cdx.json
RUN groupadd --system --gid 900 peal \
    && useradd --system --uid 900 --gid peal --home-dir /var/lib/peal --shell /usr/sbin/nologin peal \
    && install -d -m 0700 -o peal -g peal /var/lib/peal
# variables, so that what PARAMS says counts more
ENV PEAL_SERVER_PORT=8080 PEAL_DATA=/var/lib/peal
USER peal
WORKDIR /var/lib/peal
VOLUME /var/lib/peal
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/usr/bin/peal-container", "health", "--live"]
ENTRYPOINT ["/usr/bin/peal-container"]
CMD ["server"]

/** A bucket that takes whatever it is given and forgets it: the few requests of S3 that a gateway makes while calls are recorded. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface BucketDouble {
  readonly url: string;
  /** For the gateway: where the bucket is, and who may use it. */
  env(url: string): Readonly<Record<string, string>>;
  /** Keys of the objects that are complete. */
  readonly kept: ReadonlySet<string>;
}

const ETAG = '"0123456789abcdef0123456789abcdef"';

const xml = (response: ServerResponse, root: string, content = ''): void => {
  response
    .writeHead(200, { 'content-type': 'application/xml', etag: ETAG })
    .end(`<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`);
};

/** What a request without an object, or about an upload in parts, is answered. */
function answer({ method = '', url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams: query } = new URL(url, 'http://bucket');
  const [, , ...key] = pathname.split('/');
  if (method === 'POST' && query.has('uploads'))
    return xml(response, 'InitiateMultipartUploadResult', '<UploadId>one</UploadId>');
  if (method === 'POST') return xml(response, 'CompleteMultipartUploadResult', `<ETag>${ETAG}</ETag>`);
  if (method === 'GET' && key.join('/') === '')
    return xml(response, 'ListBucketResult', '<KeyCount>0</KeyCount>');
  const status = method === 'GET' || (method === 'HEAD' && key.length > 0) ? 404 : 200;
  return void response.writeHead(status, { etag: ETAG }).end();
}

export async function startBucketDouble(t: Pick<Test, 'teardown'>): Promise<BucketDouble> {
  const kept = new Set<string>();
  const server = httpDouble((request, response) => {
    request.resume().on('end', () => {
      const [path = '', query = ''] = (request.url ?? '').split('?');
      const isPart = query.includes('partNumber');
      if ((request.method === 'PUT' && !isPart) || query.includes('uploadId')) kept.add(path);
      answer(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kept,
    env: (url) => ({
      RECORDINGS_URL: 's3://calls/night',
      AWS_ACCESS_KEY_ID: 'night-access',
      AWS_SECRET_ACCESS_KEY: 'night-secret-of-the-bucket',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_S3: url,
    }),
  };
}

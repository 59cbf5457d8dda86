/** Proxies that do nothing but pass on: what the same bytes cost at least. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startBaseline } from '../../baselines/baseline.js';
import { startProgram } from '../program.js';
import type { Rival } from './rival.js';

const GO_SOURCE = fileURLToPath(new URL('../../../../peers/go-proxy/main.go', import.meta.url));

const nginxConfig = (engine: string, port: number, folder: string): string => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/bodies;
  proxy_temp_path ${folder}/answers;
  fastcgi_temp_path ${folder}/unused;
  uwsgi_temp_path ${folder}/unused;
  scgi_temp_path ${folder}/unused;
  upstream engine { server ${new URL(engine).host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;

const nginx: Rival = {
  id: 'nginx',
  start: (engine) =>
    startProgram({
      name: 'nginx',
      async start(port, folder) {
        const config = path.join(folder, 'nginx.conf');
        await writeFile(config, nginxConfig(engine, port, folder));
        return { command: process.env['NGINX'] || 'nginx', args: ['-p', folder, '-c', config] };
      },
    }),
};

const go: Rival = {
  id: 'go',
  start: (engine) =>
    startProgram({
      name: 'Go’s httputil.ReverseProxy',
      async start(port, folder) {
        const program = path.join(folder, 'go-proxy');
        await promisify(execFile)('go', ['build', '-o', program, GO_SOURCE]);
        return { command: program, args: [`127.0.0.1:${port}`, engine] };
      },
    }),
};

const ofNode = (id: string, kind: 'node' | 'uws'): Rival => ({
  id,
  async start(engine) {
    const server = await startBaseline('proxy', 'proxy', [kind, engine]);
    return { ...server, openai: `${server.origin}/v1`, isNative: false };
  },
});

/** What the gateway's requests are held against. */
export const nodeProxy = ofNode('node', 'node');

export const proxies: readonly Rival[] = [nodeProxy, ofNode('uws', 'uws'), nginx, go];

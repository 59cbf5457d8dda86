/**
 * The metric that the chart scales by, as Kubernetes' own autoscaler asks for it (custom.metrics.k8s.io): an adapter for the run, on this
 * machine, which reads `gateway_calls` from each gateway. It stands where operators have one for Prometheus.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import type { Kube, Pod } from './kube.js';

const GROUP = 'custom.metrics.k8s.io/v1beta2';
const METRIC = 'gateway_calls';
const ASK_MS = 2000;
const PORT = 6444;

/** The value of a metric without labels in Prometheus' text; undefined if it is not there. */
export function valueIn(metrics: string, name: string): number | undefined {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics) ?? [];
  return value === undefined ? undefined : Number(value);
}

/** What the adapter has. */
export const RESOURCES = {
  ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: GROUP },
  resources: [
    {
      ...{ name: `pods/${METRIC}`, singularName: '', namespaced: true },
      ...{ kind: 'MetricValueList', verbs: ['get'] },
    },
  ],
};

/** The list of values that the autoscaler reads. */
export const valueList = (namespace: string, now: Date, calls: ReadonlyMap<string, number>) => ({
  ...{ kind: 'MetricValueList', apiVersion: GROUP, metadata: {} },
  items: [...calls].map(([name, value]) => ({
    describedObject: { kind: 'Pod', namespace, name, apiVersion: '/v1' },
    metric: { name: METRIC, selector: null },
    ...{ timestamp: now.toISOString(), value: String(value) },
  })),
});

async function callsOf({ address }: Pod): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const answer = await fetch(`http://${address}/metrics`, { headers, signal: AbortSignal.timeout(ASK_MS) });
  return valueIn(await answer.text(), METRIC);
}

async function callsNow(kube: Kube): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  const ask = async (pod: Pod): Promise<void> => {
    const value = await callsOf(pod).catch(() => undefined);
    if (value !== undefined) calls.set(pod.name, value);
  };
  await Promise.all((await kube.pods()).filter(({ isReady }) => isReady).map(ask));
  return calls;
}

/** The objects by which the API server finds the adapter. */
const objects = (host: string) => {
  const metadata = { name: 'chaos-metrics', namespace: 'default' };
  return {
    ...{ kind: 'List', apiVersion: 'v1' },
    items: [
      { kind: 'Service', apiVersion: 'v1', metadata, spec: { ports: [{ port: 443, targetPort: PORT }] } },
      {
        ...{ kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', addressType: 'IPv4' },
        metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
        ...{ endpoints: [{ addresses: [host] }], ports: [{ port: PORT, protocol: 'TCP' }] },
      },
      {
        ...{ kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1' },
        metadata: { name: GROUP.split('/').reverse().join('.') },
        spec: {
          ...{ group: 'custom.metrics.k8s.io', version: 'v1beta2', insecureSkipTLSVerify: true },
          ...{ groupPriorityMinimum: 100, versionPriority: 100, service: metadata },
        },
      },
    ],
  };
};

/** Serves the metric on this machine until it is closed. */
export async function startAdapter(kube: Kube): Promise<{ close(): Promise<void> }> {
  const file = (name: string) => readFileSync(fileURLToPath(new URL(`test/fixtures/${name}`, CHECKOUT)));
  const server = createServer(
    { key: file('edge-key.pem'), cert: file('edge-cert.pem') },
    (request, response) => {
      const isAsked = decodeURIComponent(request.url ?? '').includes(`/pods/*/${METRIC}`);
      const answer = isAsked
        ? callsNow(kube).then((calls) => valueList('default', new Date(), calls))
        : Promise.resolve(RESOURCES);
      answer.then(
        (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
        () => response.destroy(),
      );
    },
  );
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(PORT, kube.host, resolve));
  await kube.apply(JSON.stringify(objects(kube.host)));
  return {
    async close() {
      await kube.kubectl('delete', '--ignore-not-found', 'apiservice', 'v1beta2.custom.metrics.k8s.io');
      await kube.kubectl('delete', '--ignore-not-found', 'service,endpointslice', 'chaos-metrics');
      server.closeAllConnections();
      server.close();
    },
  };
}

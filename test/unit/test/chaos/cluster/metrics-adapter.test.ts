/** What Kubernetes' autoscaler reads of the run's adapter (test/chaos/cluster/metrics-adapter.ts). */
import t from '../../../../fixtures/tap.js';
import { RESOURCES, valueIn, valueList } from '../../../../chaos/cluster/metrics-adapter.js';

t.test('a value is that of the metric with exactly this name', async (t) => {
  const text = '# TYPE gateway_calls gauge\ngateway_calls_total 9\ngateway_calls 3\nother 4\n';
  t.equal(valueIn(text, 'gateway_calls'), 3);
  t.equal(valueIn(text, 'gateway_call'), undefined);
});

t.test('each pod has its value, by the name that the adapter tells the API server', async (t) => {
  const now = new Date('2026-11-30T12:00:00Z');
  t.strictSame(valueList('default', now, new Map([['speech-1', 2]])), {
    ...{ kind: 'MetricValueList', apiVersion: RESOURCES.groupVersion, metadata: {} },
    items: [
      {
        describedObject: { kind: 'Pod', namespace: 'default', name: 'speech-1', apiVersion: '/v1' },
        metric: { name: 'gateway_calls', selector: null },
        ...{ timestamp: '2026-11-30T12:00:00.000Z', value: '2' },
      },
    ],
  });
  t.equal(RESOURCES.resources[0]?.name, 'pods/gateway_calls');
});

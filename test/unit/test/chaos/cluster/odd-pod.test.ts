/** A gateway unlike the others of its release (test/chaos/cluster/odd-pod.ts). */
import t from '../../../../fixtures/tap.js';
import { clock, disk, oddPod } from '../../../../chaos/cluster/odd-pod.js';
import type { PodTemplate } from '../../../../chaos/cluster/kube.js';

const TEMPLATE: PodTemplate = {
  metadata: { labels: { app: 'gateway', 'pod-template-hash': 'abc' } },
  spec: {
    containers: [{ name: 'gateway', env: [{ name: 'A', value: '1' }], volumeMounts: [{ name: 'data' }] }],
    volumes: [{ name: 'data' }, { name: 'tmp' }],
  },
};

t.test('it has the labels of the others but the one by which a controller would count it', async (t) => {
  t.strictSame(oddPod(TEMPLATE), {
    ...{ kind: 'Pod', apiVersion: 'v1' },
    metadata: { name: 'speech-odd', labels: { app: 'gateway', odd: 'true' } },
    spec: { ...TEMPLATE.spec, restartPolicy: 'Always' },
  });
});

t.test('its clock differs by a library of its node, and its timers do not', async (t) => {
  const { spec } = clock('+5m')(TEMPLATE);
  const folder = '/usr/lib/x86_64-linux-gnu/faketime';
  t.strictSame(spec.containers, [
    {
      name: 'gateway',
      env: [
        { name: 'A', value: '1' },
        { name: 'LD_PRELOAD', value: `${folder}/libfaketime.so.1` },
        { name: 'FAKETIME', value: '+5m' },
        { name: 'FAKETIME_DONT_FAKE_MONOTONIC', value: '1' },
      ],
      volumeMounts: [{ name: 'data' }, { name: 'faketime', mountPath: folder, readOnly: true }],
    },
  ]);
  t.strictSame(spec.volumes, [...TEMPLATE.spec.volumes, { name: 'faketime', hostPath: { path: folder } }]);
});

t.test('its data lie on a disk of that size', async (t) => {
  t.strictSame(disk('256Mi')(TEMPLATE).spec, {
    ...TEMPLATE.spec,
    volumes: [{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '256Mi' } }, { name: 'tmp' }],
  });
});

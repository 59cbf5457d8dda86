/** A gateway beside those of the release that is unlike them: a pod of the same kind, which clients reach as they do the others. */
import { type Kube, type PodTemplate } from './kube.js';

const NAME = 'speech-odd';
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime';

/** What is odd about it: a change of the template. */
export type Oddity = (template: PodTemplate) => PodTemplate;

const gatewayWith = (template: PodTemplate, more: { env?: object[]; volumeMounts?: object[] }): object[] =>
  template.spec.containers.map((container) => ({
    ...container,
    env: [...container.env, ...(more.env ?? [])],
    volumeMounts: [...container.volumeMounts, ...(more.volumeMounts ?? [])],
  }));

/** Its clock differs (`+5m`), but not that of its timers: Debian's libfaketime, which its node must have. */
export const clock =
  (by: string): Oddity =>
  (template) => ({
    ...template,
    spec: {
      ...template.spec,
      containers: gatewayWith(template, {
        env: [
          { name: 'LD_PRELOAD', value: `${FAKETIME}/libfaketime.so.1` },
          { name: 'FAKETIME', value: by },
          { name: 'FAKETIME_DONT_FAKE_MONOTONIC', value: '1' },
        ],
        volumeMounts: [{ name: 'faketime', mountPath: FAKETIME, readOnly: true }],
      }) as PodTemplate['spec']['containers'],
      volumes: [...template.spec.volumes, { name: 'faketime', hostPath: { path: FAKETIME } }],
    },
  });

/** `/data` is a disk of its own that ends after so much. */
export const disk =
  (size: string): Oddity =>
  (template) => ({
    ...template,
    spec: {
      ...template.spec,
      volumes: template.spec.volumes.map((volume) =>
        volume.name === 'data' ? { name: 'data', emptyDir: { medium: 'Memory', sizeLimit: size } } : volume,
      ),
    },
  });

/** The pod's manifest. Without the hash of the release's pods, so that no controller counts it as one of those. */
export function oddPod({ metadata, spec }: PodTemplate): object {
  const { 'pod-template-hash': _, ...labels } = metadata.labels;
  return {
    ...{ kind: 'Pod', apiVersion: 'v1' },
    metadata: { name: NAME, labels: { ...labels, odd: 'true' } },
    spec: { ...spec, restartPolicy: 'Always' },
  };
}

/** Runs one while `work` lasts; it is ended as pods are, and has gone when this resolves. */
export async function withOddPod(
  kube: Kube,
  oddity: Oddity,
  work: (name: string) => Promise<void>,
): Promise<void> {
  await kube.apply(JSON.stringify(oddPod(oddity(await kube.template()))));
  try {
    await kube.kubectl('wait', '--for=condition=Ready', `pod/${NAME}`, '--timeout=180s');
    await work(NAME);
  } finally {
    await kube.kubectl('delete', 'pod', NAME, '--timeout=300s');
  }
}

/**
 * The Helm chart, rendered and linted by Helm itself, and its manifests checked against Kubernetes' schemas by kubeconform or
 * kubernetes-validate, if these are on the PATH. `go install` builds helm.sh/helm/v3/cmd/helm and
 * github.com/yannh/kubeconform/cmd/kubeconform; kubernetes-validate is a package of PyPI with the schemas. Tests that need
 * none of them are in test/unit/ops/deploy/deployment.test.ts.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { externalTool } from '../../fixtures/external.js';

const chart = join(fileURLToPath(CHECKOUT), 'ops/deploy/helm');
const valuesOf = (name: string): string[] => ['--values', join(chart, 'examples', `${name}.yaml`)];

const VALIDATE = 'kubernetes-validate';
const without = (name: string): string | false => externalTool(name) === undefined && `not on PATH: ${name}`;

/** Helm runs without its user's configuration. */
const env = { ...process.env, HOME: '/nonexistent' };
const helm = (...args: string[]): string => execFileSync('helm', args, { encoding: 'utf8', env });
/** Arguments for a current cluster: Helm's default version depends on its build. */
const TEMPLATE = ['template', 'speech', chart, '--namespace', 'calls', '--kube-version', '1.34.0'];
const render = (name: string, ...args: string[]): string[] =>
  helm(...TEMPLATE, ...valuesOf(name), ...args).split(/^---$/m);

/** The manifest of that kind and name. */
const manifest = (manifests: readonly string[], kind: string, name: string): string => {
  const found = manifests.filter(
    (text) => text.includes(`\nkind: ${kind}\n`) && text.includes(`\n  name: ${name}\n`),
  );
  if (found.length !== 1) throw new Error(`${found.length} manifests are ${kind} ${name}`);
  return found[0] ?? '';
};

const PUBLIC = ['--set', 'publicUrl=https://a.example'];
const SPEECH = 'speech.enabled=true,networkPolicy.nodeNetworks={10.0.0.0/16}';
const PROXIES = ['--set-string', 'gateway.settings.TRUSTED_PROXIES=10.0.0.0/8'];
/** Arguments for the values in the handbook that no example sets. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  'as little as can be': [],
  'ports of its own': [
    ...['--set', 'gateway.port=9090'],
    ...['--set', 'gateway.settings.MEDIA_UDP_PORT=9000,gateway.settings.MEDIA_PROCESSES=64'],
  ],
  'a load balancer': ['--set', 'service.type=LoadBalancer,service.externalTrafficPolicy=Local'],
  'models from a claim': ['--set', `${SPEECH},gateway.modelsClaim=models,speech.modelsClaim=models`],
  'speech without a policy': ['--set', 'speech.enabled=true,speech.replicas=5,networkPolicy.enabled=false'],
  'a policy that says who': ['--set-json', 'networkPolicy.from=[{"ipBlock":{"cidr":"10.0.0.0/8"}}]'],
  'nothing out of reach': ['--set', `${SPEECH},networkPolicy.except=null,networkPolicy.scrapers=null`],
  KEDA: ['--set', 'autoscaling.by=keda,serviceMonitor.enabled=true'],
  'an HPA': ['--set', 'autoscaling.by=hpa,gateway.callPlaces=null'],
  'an Ingress': [...PROXIES, '--set', 'ingress.enabled=true,ingress.className=nginx'],
  'an Ingress without TLS': [...PROXIES, '--set', 'publicUrl=http://a.example:8080,ingress.enabled=true'],
  'nodes of its own': [
    ...['--set-json', 'gateway.tolerations=[{"key":"a","operator":"Exists"}]'],
    ...['--set', 'gateway.nodeSelector.a=b,image.pullSecrets[0].name=registry,gateway.podAnnotations.a=b'],
  ],
};

const HELM = { skip: without('helm') };

for (const name of ['embedded', 'livekit'])
  t.test(`${name}: has nothing that lint finds`, HELM, async (t) => {
    t.match(helm('lint', '--strict', chart, ...valuesOf(name)), /0 chart\(s\) failed/);
  });

t.test('embedded: one pod a node on its network, with time for its calls', HELM, async (t) => {
  const manifests = render('embedded', '--set', 'gateway.drainSeconds=1800');
  const gateway = manifest(manifests, 'Deployment', 'speech');
  for (const line of [
    'hostNetwork: true',
    'requiredDuringSchedulingIgnoredDuringExecution:',
    'terminationGracePeriodSeconds: 1870',
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'rollingUpdate: { maxUnavailable: 1, maxSurge: 0 }',
    'http://speech-speech-0.speech-speech.calls.svc:8080,http://speech-speech-1.speech-speech.calls.svc:8080',
    '{ name: media-0, containerPort: 7882, protocol: UDP }',
    'valueFrom: { secretKeyRef: { name: speech-gateway, key: DATABASE_URL } }',
  ])
    t.match(gateway, line);
  t.match(gateway, /name: DRAIN_SECONDS\n\s+value: "1800"/);
  const scaling = manifest(manifests, 'ScaledObject', 'speech');
  t.match(scaling, 'stabilizationWindowSeconds: 600');
  t.match(scaling, 'policies: [{ type: Pods, value: 1, periodSeconds: 60 }]');
  for (const kind of ['PodDisruptionBudget', 'StatefulSet', 'NetworkPolicy'])
    manifest(manifests, kind, kind === 'PodDisruptionBudget' ? 'speech-gateway' : 'speech-speech');
  manifest(manifests, 'ServiceMonitor', 'speech');
  const speech = manifest(manifests, 'NetworkPolicy', 'speech-speech');
  t.match(speech, 'ipBlock: { cidr: 10.0.0.0/16 }', 'gateways on the nodes are let in');
  t.match(speech, 'kubernetes.io/metadata.name: monitoring');
});

t.test('a key of the Secret reaches gateways where its part is on, and nowhere else', HELM, async (t) => {
  const parts: Readonly<Record<string, readonly string[]>> = {
    'LLM_BASE_URL=https://a.example/v1': ['LLM_API_KEY'],
    'LLM_FALLBACK_BASE_URL=https://a.example/v1': ['LLM_FALLBACK_API_KEY'],
    'REMOTE_NATIVE_URL=https://a.example': ['REMOTE_NATIVE_KEY'],
    'REMOTE_OPENAI_URL=https://a.example/v1': ['REMOTE_OPENAI_KEY'],
    'RECORDINGS_URL=s3://a/b': ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
  };
  const keysOf = (...args: string[]): readonly string[] => {
    const gateway = manifest(helm(...TEMPLATE, ...PUBLIC, ...args).split(/^---$/m), 'Deployment', 'speech');
    return [...gateway.matchAll(/key: ([A-Z_]+)/g)].map(([, key]) => key ?? '');
  };
  const always = keysOf();
  for (const [setting, keys] of Object.entries(parts)) {
    for (const key of keys) t.notOk(always.includes(key), key);
    t.strictSame(
      [...keysOf('--set', `gateway.settings.${setting}`)].sort(),
      [...always, ...keys].sort(),
      setting,
    );
  }
  const livekit = keysOf('--set', 'calls=livekit,gateway.settings.LIVEKIT_URL=wss://a.example');
  t.strictSame(
    livekit.filter((key) => !always.includes(key)),
    ['LIVEKIT_API_KEY', 'LIVEKIT_API_SECRET'],
  );
  for (const key of ['DATABASE_URL', 'SECRETS_KEY', 'API_KEY', 'METRICS_TOKEN', 'ICE_SERVERS'])
    t.ok(always.includes(key), key);
  const [, optional] =
    /key: REMOTE_NATIVE_KEY, optional: (\w+)/.exec(manifest(render('embedded'), 'Deployment', 'speech')) ??
    [];
  t.equal(optional, 'false', 'a gateway does not start without the key of its speech pods');
});

t.test(
  'with an autoscaler the number of pods is the least one until the cluster is asked',
  HELM,
  async (t) => {
    const replicas = (...args: string[]): string | undefined =>
      /^ {2}replicas: (.*)$/m.exec(
        manifest(helm(...TEMPLATE, ...PUBLIC, ...args).split(/^---$/m), 'Deployment', 'speech'),
      )?.[1];
    t.equal(replicas('--set', 'gateway.replicas=5'), '5');
    for (const by of ['hpa', 'keda'])
      t.equal(replicas('--set', `gateway.replicas=5,autoscaling.by=${by},autoscaling.min=3`), '3', by);
  },
);

t.test(
  'one replica, and wherever there is a spare node: a new pod comes before an old one goes',
  HELM,
  async (t) => {
    const rolling = (values: string): string | undefined =>
      /rollingUpdate: {(.*)}/.exec(
        manifest(helm(...TEMPLATE, ...PUBLIC, '--set', values).split(/^---$/m), 'Deployment', 'speech'),
      )?.[1];
    const [first, after] = [' maxUnavailable: 0, maxSurge: 1 ', ' maxUnavailable: 1, maxSurge: 0 '];
    t.equal(rolling('gateway.replicas=1'), first);
    t.equal(rolling('gateway.replicas=1,gateway.spareNode=false'), after);
    t.equal(rolling('gateway.replicas=2'), after);
    t.equal(rolling('gateway.replicas=2,gateway.spareNode=true'), first);
    t.equal(rolling('gateway.replicas=2,autoscaling.by=hpa,autoscaling.min=1'), first);
    t.equal(rolling('calls=livekit,gateway.settings.LIVEKIT_URL=wss://a.example'), first);
  },
);

t.test('pods of a node that does not answer are replaced soon', HELM, async (t) => {
  const manifests = render('embedded', '--set-json', 'speech.tolerations=[{"key":"a","operator":"Exists"}]');
  for (const [kind, name] of [
    ['Deployment', 'speech'],
    ['StatefulSet', 'speech-speech'],
  ] as const)
    for (const taint of ['not-ready', 'unreachable'])
      t.match(
        manifest(manifests, kind, name),
        `{ key: node.kubernetes.io/${taint}, operator: Exists, effect: NoExecute, tolerationSeconds: 30 }`,
      );
  t.match(manifest(manifests, 'StatefulSet', 'speech-speech'), /- key: a\n\s+operator: Exists/);
});

t.test(
  'a start may take as long as its probe allows, most of which it waits for Postgres',
  HELM,
  async (t) => {
    const gateway = manifest(render('livekit'), 'Deployment', 'speech');
    t.match(gateway, /name: DATABASE_WAIT_SECONDS\n\s+value: "540"/);
    t.match(gateway, /startupProbe:\n.*\n\s+periodSeconds: 2\n\s+failureThreshold: 300\n/);
  },
);

t.test('pods stay in the service while Postgres is away', HELM, async (t) => {
  const manifests = render('embedded', '--set', 'speech.enabled=true');
  for (const [kind, name] of [
    ['Deployment', 'speech'],
    ['StatefulSet', 'speech-speech'],
  ] as const)
    t.match(
      manifest(manifests, kind, name),
      /readinessProbe:\n\s+httpGet: { path: '\/health\?exclude=database'/,
    );
});

t.test('the notes say what does not run yet, and why', HELM, async (t) => {
  // Helm prints notes for a cluster only; as a file of a copy of the chart they are rendered without one.
  const copy = t.testdir();
  cpSync(chart, copy, { recursive: true });
  renameSync(join(copy, 'templates/NOTES.txt'), join(copy, 'notes.txt'));
  writeFileSync(
    join(copy, 'templates/notes.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata: {{ dict "notes" (tpl (.Files.Get "notes.txt") .) | toJson }}\n',
  );
  const notes = (...args: string[]): string => {
    const rendered = helm('template', 'speech', copy, ...TEMPLATE.slice(3), ...PUBLIC, ...args);
    const [, data = ''] = /^data: ({"notes":.*})$/m.exec(rendered) ?? [];
    return (JSON.parse(data) as { notes: string }).notes;
  };
  const bare = notes();
  for (const line of [
    /until the Secret speech-gateway in calls has DATABASE_URL, SECRETS_KEY\./,
    /2 gateways are started, each of which is ready once Postgres answers/,
    /pod-security\.kubernetes\.io\/enforce=privileged/,
    /no language model/,
    /rollout restart deployment\/speech\./,
  ])
    t.match(bare, line);
  for (const line of [/speech pod/, /adapter/, /KEDA/]) t.notMatch(bare, line);
  const all = notes(
    '--set',
    `${SPEECH},autoscaling.by=keda,gateway.settings.LLM_BASE_URL=https://a.example/v1`,
  );
  t.match(all, /has DATABASE_URL, SECRETS_KEY, REMOTE_NATIVE_KEY\./);
  t.match(all, /Nothing is spoken or transcribed until a speech pod is ready/);
  t.match(all, /until KEDA reads gateway_calls/);
  t.notMatch(all, /no language model/);
  t.match(notes('--set', 'autoscaling.by=hpa'), /until an adapter serves gateway_calls/);
  const livekit = notes('--set', 'calls=livekit,gateway.settings.LIVEKIT_URL=wss://a.example');
  t.notMatch(livekit, /pod-security/);
});

t.test('a changed port is that of the process, its probes and its address', HELM, async (t) => {
  const gateway = manifest(render('embedded', '--set', 'gateway.port=9090'), 'Deployment', 'speech');
  t.match(gateway, /name: PORT\n\s+value: "9090"/);
  t.match(gateway, 'value: http://$(POD_IP):9090');
  t.match(gateway, '{ name: http, containerPort: 9090, protocol: TCP }');
});

t.test('livekit: pods as any others, scaled by an HPA', HELM, async (t) => {
  const manifests = render('livekit');
  const gateway = manifest(manifests, 'Deployment', 'speech');
  t.notMatch(gateway, 'hostNetwork');
  t.match(gateway, /name: LIVEKIT_URL\n\s+value: "wss:\/\/livekit\.example\.com"/);
  t.match(manifest(manifests, 'HorizontalPodAutoscaler', 'speech'), 'metric: { name: gateway_calls }');
  const ingress = manifest(manifests, 'Ingress', 'speech');
  t.match(ingress, 'hosts: [speech.example.com]');
  t.match(ingress, 'secretName: speech-example-com');
});

t.test('settings are texts, however they are written', HELM, async (t) => {
  const values = join(
    t.testdir({ 'values.yaml': 'gateway: { settings: { A: 12345678, B: 0.5, C: true, D: "01" } }' }),
    'values.yaml',
  );
  const gateway = manifest(render('embedded', '--values', values), 'Deployment', 'speech');
  for (const [name, value] of Object.entries({ A: '12345678', B: '0.5', C: 'true', D: '01' }))
    t.match(gateway, new RegExp(`name: ${name}\\n\\s+value: "${value}"\\n`));
});

t.test('without a number of places there is no limit', HELM, async (t) => {
  t.match(manifest(render('embedded'), 'Deployment', 'speech'), /name: CALL_PLACES\n\s+value: "20"/);
  const manifests = render('embedded', '--set', 'gateway.callPlaces=null');
  t.notMatch(manifest(manifests, 'Deployment', 'speech'), 'CALL_PLACES');
});

t.test('what waits on disk fits into /data, in all processes together', HELM, async (t) => {
  const spools = (...args: string[]): readonly (string | undefined)[] => {
    const gateway = manifest(helm(...TEMPLATE, ...PUBLIC, ...args).split(/^---$/m), 'Deployment', 'speech');
    return ['RECORDINGS_SPOOL_MB', 'SPOOL_MB'].map(
      (name) => new RegExp(`name: ${name}\\n\\s+value: "(.*)"`).exec(gateway)?.[1],
    );
  };
  t.strictSame(spools(), ['4096', '2048']);
  t.strictSame(spools('--set', 'gateway.dataSize=16Gi,gateway.settings.WORKERS=4'), ['2048', '1024']);
  t.strictSame(spools('--set', 'gateway.dataSize=800Mi'), ['400', '256']);
  t.strictSame(spools('--set', 'gateway.dataSize=0.5Ti'), ['262144', '131072']);
  t.strictSame(spools('--set', 'gateway.settings.RECORDINGS_SPOOL_MB=7'), ['7', '2048']);
});

t.test('no pod reaches the metadata of a cloud, by IPv4 or IPv6', HELM, async (t) => {
  const policy = manifest(render('livekit'), 'NetworkPolicy', 'speech');
  t.match(policy, `cidr: 0.0.0.0/0, except: ["169.254.169.254/32"]`);
  t.match(policy, `cidr: '::/0', except: ["fd00:ec2::254/128"]`);
});

t.test('missing values are named', HELM, async (t) => {
  const said = (...args: string[]): string =>
    spawnSync('helm', [...TEMPLATE, ...args], { encoding: 'utf8', env }).stderr;
  t.match(said(), /publicUrl is needed/);
  t.match(
    said('--set', 'publicUrl=https://a.example,calls=livekit'),
    /calls: livekit needs gateway\.settings\.LIVEKIT_URL/,
  );
  const set = (values: string) => said('--set', `publicUrl=https://a.example,${values}`);
  t.match(set('calls=else'), /calls is embedded or livekit/);
  t.match(set('autoscaling.by=else'), /autoscaling\.by is none, hpa or keda/);
  t.match(set('speech.enabled=true'), /nodeNetworks is needed/);
  t.match(set('ingress.enabled=true'), /needs gateway\.settings\.TRUSTED_PROXIES/);
  t.match(set('gateway.settings.LIVEKIT_URL=wss://b.example'), /LIVEKIT_URL needs calls: livekit/);
  t.match(set('gateway.settings.MEDIA_UDP_PORT=0'), /MEDIA_UDP_PORT must be a port/);
  t.match(set('gateway.dataSize=8G'), /gateway\.dataSize: 8G is no number of Mi, Gi or Ti/);
  for (const engines of ['TTS_ENGINES', 'STT_ENGINES'])
    t.match(
      set(`${SPEECH},gateway.settings.${engines}=flite`),
      new RegExp(`${engines} lacks native-compatible, the engine of the speech pods`),
    );
  t.equal(set(`${SPEECH},gateway.settings.TTS_ENGINES=flite\\, native-compatible`), '');
  for (const name of ['DRAIN_SECONDS', 'DATABASE_WAIT_SECONDS', 'DATABASE_URL', 'LLM_API_KEY'])
    t.match(set(`gateway.settings.${name}=1`), new RegExp(`${name} has a value of its own in this chart`));
});

const schemas = process.env['KUBECONFORM_SCHEMAS'];
const conforms =
  without('helm') || without('kubeconform') || (!schemas && 'KUBECONFORM_SCHEMAS names no folder of schemas');
for (const name of ['embedded', 'livekit'])
  t.test(`${name}: fits the schemas of Kubernetes`, { skip: conforms }, async (t) => {
    const args = ['-strict', '-schema-location', schemas ?? '', '-skip', 'ScaledObject,ServiceMonitor', '-'];
    const { status, stdout } = spawnSync('kubeconform', args, {
      input: render(name).join('\n---\n'),
      encoding: 'utf8',
    });
    t.equal(status, 0, stdout);
  });

for (const [name, args] of Object.entries(VARIANTS))
  t.test(
    `${name}: fits the schemas of Kubernetes`,
    { skip: without('helm') || without(VALIDATE) },
    async (t) => {
      const file = join(t.testdir(), 'manifests.yaml');
      writeFileSync(file, helm(...TEMPLATE, ...PUBLIC, ...args));
      const { status, stdout, stderr } = spawnSync(VALIDATE, ['-k', '1.34', '--strict', file], {
        encoding: 'utf8',
      });
      t.equal(status, 0, stdout + stderr);
      t.match(stdout, /passed for resource deployment\/speech/);
    },
  );

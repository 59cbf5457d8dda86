/**
 * The cluster of the run, as KUBECONFIG names it: kubectl, helm and the release's pods; and the scripts of the machine that the whole
 * cluster runs on, if it does, for what no API can do (`--scripts`: a folder with `env`, `node` and `postgres`).
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../fixtures/until.js';

const execute = promisify(execFile);

const MOST_BYTES = 16 * 1024 * 1024;
/** Until all pods run again: the longest drain, a pod of a lost node, and their starts. */
const WELL_MS = 400_000;
const LOOK_MS = 1000;

export interface Pod {
  readonly name: string;
  readonly node: string;
  readonly isReady: boolean;
  readonly isLeaving: boolean;
  /** Without the runtime's prefix. */
  readonly container: string;
  readonly restarts: number;
  /** Host and port of its HTTP. */
  readonly address: string;
}

/** What pods of a deployment are made from, as far as the run changes it. */
export interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly env: readonly object[];
      readonly volumeMounts: readonly object[];
    }[];
    readonly volumes: readonly { readonly name: string }[];
  };
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly ports?: readonly { readonly containerPort: number }[] }[];
  };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly containerID?: string;
      readonly restartCount: number;
    }[];
  };
}

const podOf = ({ metadata, spec, status }: PodObject): Pod => {
  const [container] = status.containerStatuses ?? [];
  return {
    name: metadata.name,
    node: spec.nodeName ?? '',
    isReady: container?.ready ?? false,
    isLeaving: metadata.deletionTimestamp !== undefined,
    container: container?.containerID?.replace(/^.*:\/\//, '') ?? '',
    restarts: container?.restartCount ?? 0,
    address: `${status.podIP ?? ''}:${spec.containers[0]?.ports?.[0]?.containerPort ?? 0}`,
  };
};

export interface KubeOptions {
  readonly release: string;
  readonly chart: string;
  /** The node through which the load enters: it is never cut off. */
  readonly entry: string;
  /** This machine's address on the network of the nodes. */
  readonly host: string;
  readonly scripts?: string | undefined;
}

export class Kube {
  readonly deployment: string;

  constructor(private readonly options: KubeOptions) {
    this.deployment = `deployment/${options.release}`;
  }

  get host(): string {
    return this.options.host;
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return (await execute('kubectl', args, { maxBuffer: MOST_BYTES })).stdout;
  }

  /** Makes what a manifest says. */
  async apply(manifest: string): Promise<void> {
    const applied = execute('kubectl', ['apply', '--filename=-']);
    applied.child.stdin?.end(manifest);
    await applied;
  }

  /** Upgrades the release with further values. */
  async upgrade(...args: readonly string[]): Promise<void> {
    const { release, chart } = this.options;
    await execute('helm', ['upgrade', release, chart, '--reuse-values', ...args]);
  }

  async rollback(): Promise<void> {
    await execute('helm', ['rollback', this.options.release]);
  }

  async #json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', '--output=json', ...args)) as T;
  }

  /** What selects pods of the release. */
  labelsOf(component: 'gateway' | 'speech'): string {
    return `app.kubernetes.io/instance=${this.options.release},app.kubernetes.io/component=${component}`;
  }

  /** The release's gateways. */
  pods(): Promise<readonly Pod[]> {
    return this.select(this.labelsOf('gateway'));
  }

  async select(labels: string): Promise<readonly Pod[]> {
    const { items } = await this.#json<{ items: readonly PodObject[] }>('pods', `--selector=${labels}`);
    return items.map(podOf);
  }

  /** What the release's gateways are made from. */
  async template(): Promise<PodTemplate> {
    return (await this.#json<{ spec: { template: PodTemplate } }>(this.deployment)).spec.template;
  }

  /** The address of a service within the cluster. */
  async addressOf(service: string): Promise<string> {
    return (await this.#json<{ spec: { clusterIP: string } }>(`service/${service}`)).spec.clusterIP;
  }

  /** A gateway that is ready, on a node that may be cut off. */
  async victim(): Promise<Pod> {
    const found = (await this.pods()).find(
      ({ node, isReady, isLeaving }) => isReady && !isLeaving && node !== this.options.entry,
    );
    if (!found) throw new Error('no gateway is ready on another node than the entry');
    return found;
  }

  async #isWell(): Promise<boolean> {
    const { metadata, spec, status } = await this.#json<{
      metadata: { generation: number };
      spec: { replicas: number };
      status: Partial<
        Record<'observedGeneration' | 'replicas' | 'updatedReplicas' | 'availableReplicas', number>
      >;
    }>(this.deployment);
    const counts = [status.replicas, status.updatedReplicas, status.availableReplicas];
    return (
      status.observedGeneration === metadata.generation && counts.every((each) => each === spec.replicas)
    );
  }

  /** Resolves once as many gateways as wanted are ready, all of them of the newest kind. */
  async well(): Promise<void> {
    const look = async (): Promise<boolean> => {
      const isWell = await this.#isWell();
      if (!isWell) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return isWell;
    };
    await until('all gateways are ready', look, WELL_MS);
  }

  /** Runs a script of the machine: `node stop 2`. */
  async script(name: string, ...args: readonly string[]): Promise<void> {
    await execute(join(this.#scripts, name), args);
  }

  /** SIGKILL for all processes of a container: its first one, and with it the others. */
  async killContainer({ node, container }: Pod): Promise<void> {
    const program = `in_node "$2" kill -9 "$(ctr "$2" task ls | awk -v id="$3" '$1 == id { print $2 }')"`;
    await this.#shell(program, numberOf(node), container);
  }

  /** A signal for the first process of the machine's Postgres and all others, which have that as their parent. */
  async signalPostgres(signal: 'STOP' | 'CONT'): Promise<void> {
    const program =
      'pid=$(head -1 "$CLUSTER_STATE/postgres/postmaster.pid"); kill "-$2" "$pid" $(pgrep -P "$pid")';
    await this.#shell(program, signal);
  }

  async #shell(program: string, ...args: readonly string[]): Promise<void> {
    await execute('bash', ['-c', `. "$1/env"; ${program}`, 'chaos', this.#scripts, ...args]);
  }

  get #scripts(): string {
    const { scripts } = this.options;
    if (scripts === undefined) throw new Error('this needs --scripts');
    return scripts;
  }
}

/** `node2` is the scripts' 2. */
export const numberOf = (node: string): string => node.replace(/\D/g, '');

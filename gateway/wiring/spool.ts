/** Opens DATA_DIR/spool, where large uploads are kept while they arrive and are decoded. */
import { join } from 'node:path';
import { removeStale } from '../../codecs/decode/uploads.js';
import { privateFolder, roomFor } from '../../processes/private-folder.js';
import type { Config } from '../config.js';
import { Spool } from '../server/bodies/spool.js';
import { Ledger } from '../server/memory/ledger.js';
import type { Metrics } from '../server/system/metrics.js';

const MIB = 1024 * 1024;

export interface OpenedSpool {
  readonly spool: Spool;
  addGauge(metrics: Metrics): void;
}

/** Removes what a killed gateway has left there. */
export async function openSpool({
  dataDir,
  spoolMb,
}: Pick<Config, 'dataDir' | 'spoolMb'>): Promise<OpenedSpool> {
  const folder = join(dataDir, 'spool');
  if (roomFor(() => privateFolder(folder))) await removeStale(folder);
  const ledger = new Ledger(spoolMb * MIB);
  return {
    spool: new Spool(folder, ledger, () => privateFolder(folder)),
    addGauge: (metrics) =>
      metrics.gauge('spool_bytes', 'Bytes of uploads in progress on disk', () => ledger.bytes),
  };
}

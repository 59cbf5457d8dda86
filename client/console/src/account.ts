/** The signed-in account, and the permissions of its key. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { ask } from './api.js';

/** Names of contracts/permissions.ts; an open set. */
export type Permission =
  | 'open'
  | 'speech'
  | 'catalogue'
  | 'sessions'
  | 'records'
  | 'read'
  | 'machine'
  | 'operate'
  | 'manage';

export interface Account {
  readonly key_id: string;
  readonly workspace_id: string;
  readonly role: string;
  readonly permissions: readonly string[];
}

export const AccountContext = createContext<Account | undefined>(undefined);

export const useMay = (): ((permission: Permission) => boolean) => {
  const account = useContext(AccountContext);
  return (permission) => account?.permissions.includes(permission) ?? false;
};

export const readAccount = (signal?: AbortSignal): Promise<Account> =>
  ask('v1/key', { signal, isTrial: true });

/**
 * The idle connections of a pool, newest first: the connection that was used last is used next. Postgres plans a statement once a
 * connection, and reads what it knows of the tables once a connection. So a process with little to do uses one warm connection,
 * and the others are closed once they have been idle for a while. It stands in for a queue of postgres.js, and has its functions.
 */
export function newestFirst<Connection>() {
  const idle: Connection[] = [];
  return {
    get length() {
      return idle.length;
    },
    push(connection: Connection): Connection {
      idle.push(connection);
      return connection;
    },
    shift: (): Connection | undefined => idle.pop(),
    remove(connection: Connection): Connection | null {
      const at = idle.indexOf(connection);
      if (at === -1) return null;
      idle.splice(at, 1);
      return connection;
    },
  };
}

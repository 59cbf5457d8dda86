/** The address of a worklet's file, relative to the script that names it (ops/setup/console-build.mjs). */
declare module '*.worklet.js' {
  const address: string;
  export default address;
}

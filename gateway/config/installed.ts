/** Whether optional packages are installed, without loading them. */
const isInstalled = (name: string): boolean => {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
};

/** The packages among these that are not installed. */
export const notInstalled = (packages: readonly string[]): readonly string[] =>
  packages.filter((name) => !isInstalled(name));

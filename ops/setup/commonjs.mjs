/** The first line of a bundle with packages that are CommonJS: their `require` of what comes with Node. */
export const REQUIRE = `import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);`;

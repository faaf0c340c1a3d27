import type { Plugin } from 'esbuild';

/** Parts of the AWS SDK that do nothing when they are imported and, unlike the others, do not say so. */
const undeclared = /[\\/]@aws-sdk[\\/]lib-(dynamodb|storage)[\\/]/;

/** Packages without side effects that do not declare it, so that bundles leave out their unused code. */
export const purePackages: Plugin = {
  name: 'pure-packages',
  setup(build) {
    build.onResolve({ filter: /^(\.|@aws-sdk\/lib-)/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === purePackages) return undefined;
      if (path.startsWith('.') && !undeclared.test(from.importer)) return undefined;
      const found = await build.resolve(path, { ...from, pluginData: purePackages });
      return undeclared.test(found.path) ? { path: found.path, sideEffects: false } : undefined;
    });
  },
};

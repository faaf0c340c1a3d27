import { cpus } from 'node:os';

/** The system and processor of this process, as names of packages have them: `linux-x64`, `darwin-arm64`. */
export const platform = `${process.platform}-${process.arch}`;

/**
 * Return a sentence for people if Rosetta translates this Node.js, which is made for Intel, on a Mac with a processor
 * of Apple. Rosetta also hides the architecture from Node, but not the name of the processor.
 */
export function translationFault(of = platform, processor = cpus()[0]?.model ?? ''): string | undefined {
  if (of !== 'darwin-x64' || !processor.includes('Apple')) return undefined;
  return 'This Node.js is made for Intel, and Rosetta translates it, so everything takes longer. Install Node.js for arm64, delete the folder node_modules, and start again.';
}

/** The system in {@link platform}. */
export const system: string = process.platform;

/** Whether files have permissions for their owner alone. Windows has other means. */
export const hasFileModes = process.platform !== 'win32';

/** The command that opens a URL in a browser on systems with a single way; undefined elsewhere. */
export const browserOpener: readonly [string, ...string[]] | undefined =
  process.platform === 'darwin'
    ? ['open']
    : process.platform === 'win32'
      ? ['rundll32', 'url.dll,FileProtocolHandler']
      : undefined;

/**
 * Return the platform of compiled packages: `linux-x64-glibc2.36`, `linux-x64-musl`, `darwin-arm64`.
 */
export function packagePlatform(): string {
  if (process.platform !== 'linux') return platform;
  // Without this the report resolves the host name of every open connection.
  Object.assign(process.report, { excludeNetwork: true });
  const report: { header?: { glibcVersionRuntime?: unknown } } = process.report.getReport();
  const glibc = report.header?.glibcVersionRuntime;
  return typeof glibc === 'string' ? `${platform}-glibc${glibc}` : `${platform}-musl`;
}

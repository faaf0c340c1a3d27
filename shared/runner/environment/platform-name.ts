import * as z from 'zod';

const Report = z.object({ header: z.object({ glibcVersionRuntime: z.string().optional() }) });

/** The platform of compiled packages: `linux-x64-glibc2.36`, `linux-x64-musl`, `darwin-arm64`. */
export function platformName(): string {
  const base = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return base;
  // Otherwise the report looks up a name for every open connection.
  Object.assign(process.report, { excludeNetwork: true });
  const glibc = Report.safeParse(process.report.getReport()).data?.header.glibcVersionRuntime;
  return glibc === undefined ? `${base}-musl` : `${base}-glibc${glibc}`;
}

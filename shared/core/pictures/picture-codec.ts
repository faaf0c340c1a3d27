/**
 * Load sharp, a native library of some 20 MB, when the first picture arrives. All loaders stay blocked but those of `readers`: no
 * SVG, no PDF, no TIFF. One thread and no cache bound the memory to one picture at a time.
 */
export function pictureCodec(readers: readonly Reader[]): ReturnType<typeof load> {
  loaded ??= load(readers);
  return loaded;
}

type Reader = `VipsForeignLoad${'Png' | 'Jpeg' | 'Webp' | 'Nsgif'}Buffer`;

let loaded: ReturnType<typeof load> | undefined;

async function load(readers: readonly Reader[]) {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: [...readers] });
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

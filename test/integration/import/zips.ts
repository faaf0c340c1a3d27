import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Make zips from a description: the content of each file is JSON, or a number of zero bytes. */
export async function writeZips(zips: Record<string, Record<string, unknown>>): Promise<void> {
  const program = `
import json, sys, zipfile
for path, files in json.loads(sys.argv[1]).items():
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            with archive.open(name, "w") as file:
                if isinstance(content, int):
                    for _ in range(content >> 20):
                        file.write(b"0" * (1 << 20))
                else:
                    file.write((content if isinstance(content, str) else json.dumps(content)).encode())
`;
  await promisify(execFile)('python3', ['-c', program, JSON.stringify(zips)]);
}

/** The version of uv that installs packages, and of the job image. A newer one on the search path has priority. */
export const uvVersion = '0.13.9';

/** Its wheels: Linux and macOS on both processors, with glibc and musl. */
const wheels: readonly string[] = [
  'd7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19',
  'ecb6028d79dc96fbeafffe5c8af62a7099487ebc05a701e76714eebcffd06375',
  '5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe',
  '2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25',
  'c16ed11e013557536b3e60065f1b912f6407bd6518e041b961e23ef9e6b4fbf5',
  '66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63',
];

/** What pip needs to install it, and nothing else. */
export const uvRequirement = [`uv==${uvVersion}`, ...wheels.map((sha256) => `--hash=sha256:${sha256}`)].join(
  ' \\\n    ',
);

import { describe, expect, test } from 'vitest';
import { greeting } from '../../../../../infra/local/start/greeting.ts';

const base = {
  url: 'http://127.0.0.1:3000',
  checkout: '/it is here',
  dataFolder: '/data',
  size: '12.3 GB of at most 40.0 GB',
  hasDocs: false,
  firstAdmin: undefined,
  passwordFile: undefined,
  jobsElsewhere: undefined,
  warnings: [],
};

describe('what a start says', () => {
  test('ends with the line that means ready', () => {
    expect(greeting(base)).toMatch(/\nListening on http:\/\/127\.0\.0\.1:3000\n$/);
    expect(greeting(base)).toMatch(/^Data +\/data \(12\.3 GB of at most 40\.0 GB\)$/m);
    expect(greeting(base)).not.toContain('/docs');
    expect(greeting({ ...base, hasDocs: true })).toContain('http://127.0.0.1:3000/docs');
  });

  test('shows a made password once, with a command that survives any folder name', () => {
    const firstAdmin = {
      username: 'admin',
      password: 'made',
      passwordFile: "/it's $(here)/admin-password",
    } as const;
    const said = greeting({ ...base, firstAdmin });
    expect(said).toContain('the password made');
    expect(said).toContain(
      String.raw`mps login http://127.0.0.1:3000 --user admin < '/it'\''s $(here)/admin-password'`,
    );
  });

  test('names the commands to go on with, which are ours in any folder', () => {
    expect(greeting({ ...base, dataFolder: '/it is here/.data' })).toMatch(
      /npm install -g http:\/\/127\.0\.0\.1:3000\/cli\/mps\.tgz\n {2}cd '\/it is here\/test\/examples\/hello' && mps run\n.*mps run -S .*\n.*mps compare\n.*npx --prefix '\/it is here' mps"[\s\S]*\n {2}pip install "model-project-service @ http:\/\/127\.0\.0\.1:3000\/cli\/\S+\.whl"\n/,
    );
  });

  test('signs in before it trains where the data is not in the checkout, whose password mps cannot find', () => {
    const firstAdmin = { username: 'admin', password: 'made', passwordFile: '/data/admin-password' } as const;
    const signIn = /mps\.tgz\n {2}mps login http:\S+ --user admin < \/data\/admin-password\n {2}cd /;
    expect(greeting({ ...base, firstAdmin })).toMatch(signIn);
    expect(greeting(base)).toMatch(/mps\.tgz\n {2}mps login http:\S+\n {2}cd /);
    expect(greeting({ ...base, firstAdmin, dataFolder: '/it is here/.data' })).not.toMatch(signIn);
  });

  test('names the file of the password at later starts, too, because the first may have ended before', () => {
    const later = { ...base, passwordFile: '/data/admin-password' };
    expect(greeting(later)).toMatch(/ {2}mps login http:\S+ --user admin < \/data\/admin-password\n {2}cd /);
    expect(greeting(later)).not.toContain('Created the user');
  });

  test('warns of what this machine does not keep apart', () => {
    expect(greeting({ ...base, warnings: ['One.', 'Two.'] })).toContain('\nWARNING: One.\nWARNING: Two.\n');
  });

  test('does not show a password that was given', () => {
    const firstAdmin = {
      username: 'admin',
      password: undefined,
      passwordFile: '/data/admin-password',
    } as const;
    expect(greeting({ ...base, firstAdmin })).toMatch(/ {2}mps login http:\S+ --user admin\n/);
  });
});

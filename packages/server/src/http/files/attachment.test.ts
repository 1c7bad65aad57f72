import { expect, test } from 'vitest';
import { attachment } from './attachment.ts';

const savedAs = (name: string) => decodeURIComponent(attachment(name).split("''")[1] ?? '');

test.each([
  ['report.pdf', 'report.pdf'],
  ['Bericht für März (2).pdf', 'Bericht für März (2).pdf'],
  ["it's.txt", "it's.txt"],
  ['', 'content'],
  ['../../etc/passwd', '__.._etc_passwd'],
  ['..\\start.cmd', '__start.cmd'],
  ['.bashrc', '_bashrc'],
  ['invoice\u202egpj.exe', 'invoice_gpj.exe'],
  ['pay\u200bpal\u2028.txt', 'pay_pal_.txt'],
  ['a\r\nset-cookie: x', 'a__set-cookie_ x'],
  ['half\ud800', 'half_'],
])('[A20] a file that is called %j is saved as %j', (name, saved) => {
  expect(savedAs(name)).toBe(saved);
});

test('[A20] a name of any length fits a header, and keeps its end', () => {
  const long = attachment(`${'ü'.repeat(100_000)}.exe`);
  expect(long.length).toBeLessThan(1000);
  expect(long).toMatch(/\.exe$/);
});

test("[A20] nothing in a name ends the header's own parts", () => {
  expect(attachment("a'b(c).txt")).toBe("attachment; filename*=UTF-8''a%27b%28c%29.txt");
});

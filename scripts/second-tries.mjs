/**
 * Names the tests that passed only when they were tried again, and what was wrong the first time: each is a defect to be
 * found, in the product or in the test.
 */
// biome-ignore lint/style/noDefaultExport: vitest takes a reporter by the default of its file.
export default class SecondTries {
  #tries = [];

  onTestCaseResult(test) {
    const { retryCount = 0 } = test.diagnostic() ?? {};
    if (retryCount > 0 && test.result().state === 'passed') this.#tries.push(test);
  }

  onTestRunEnd() {
    for (const test of this.#tries) {
      console.log(`Needed a second try: ${test.module.relativeModuleId} > ${test.fullName}`);
      for (const { message } of test.result().errors ?? []) console.log(`  ${message}`);
    }
  }
}

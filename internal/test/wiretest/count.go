package wiretest

// Exchanges is how many exchanges are recorded in httpapi/testdata/wire, as the pages say it. They may grow, but must not shrink.
const Exchanges = 3327

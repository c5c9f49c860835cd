module github.com/kasoku/kasoku/tools/peers/mackerel-agent

go 1.26.0

tool github.com/mackerelio/mackerel-agent

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/Songmu/gocredits v0.4.0 // indirect
	github.com/Songmu/goxz v0.10.1 // indirect
	github.com/Songmu/prompter v0.5.1 // indirect
	github.com/Songmu/retry v0.1.0 // indirect
	github.com/Songmu/timeout v0.4.0 // indirect
	github.com/Songmu/wrapcommander v0.1.0 // indirect
	github.com/agext/levenshtein v1.2.3 // indirect
	github.com/ebitengine/purego v0.10.0 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/go-ole/go-ole v1.2.6 // indirect
	github.com/lufia/plan9stats v0.0.0-20211012122336-39d0f177ccd0 // indirect
	github.com/mackerelio/go-osstat v0.2.7 // indirect
	github.com/mackerelio/golib v1.2.2 // indirect
	github.com/mackerelio/mackerel-agent v0.87.0 // indirect
	github.com/mackerelio/mackerel-client-go v0.43.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/motemen/go-cli v0.0.0-20180105012931-9961a876eb5f // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/power-devops/perfstat v0.0.0-20240221224432-82ca36839d55 // indirect
	github.com/shirou/gopsutil/v4 v4.26.5 // indirect
	github.com/tklauser/go-sysconf v0.3.16 // indirect
	github.com/tklauser/numcpus v0.11.0 // indirect
	github.com/vishvananda/netlink v1.3.1 // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	github.com/yusufpapurcu/wmi v1.2.4 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/term v0.0.0-20220526004731-065cf7ba2467 // indirect
	golang.org/x/text v0.38.0 // indirect
)
